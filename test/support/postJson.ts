/** The server's reply to a POST of JSON, whatever its status. */
export async function postJson(
  url: string,
  body: unknown,
  signal: AbortSignal = AbortSignal.timeout(120_000),
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
