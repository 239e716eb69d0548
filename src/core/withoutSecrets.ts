/**
 * A text with what may be secret in its addresses taken out: user name and password, and what follows the path (tokens of
 * downloads are there). Where the address leads stays readable.
 */
export function withoutSecrets(text: string): string {
  if (!text.includes("://")) return text;
  return text.replace(address, (_, scheme: string, rest: string) => {
    const [whole = "", place = ""] = /^([^?#]*)/.exec(rest) ?? [];
    const slash = place.search(/[/\\]/);
    const authority = slash < 0 ? place : place.slice(0, slash);
    const path = slash < 0 ? "" : place.slice(slash);
    const host = authority.slice(authority.lastIndexOf("@") + 1);
    const user = host === authority ? "" : "…@";
    // a question mark may also be the sentence's
    const more = rest.length > whole.length + 1 ? `${rest.charAt(whole.length)}…` : rest.slice(whole.length);
    return scheme + user + host + path + more;
  });
}

/** Up to white space, quotes and what closes them; a scheme begins with a letter (RFC 3986, 3.1). */
const address = /(\b[a-z][a-z\d+.-]{0,30}:\/\/)([^\s"'`<>«»“”]+)/gi;
