export interface PanelResources {
  readonly script: string;
  readonly style: string;
  readonly cspSource: string;
}

/**
 * The page without any data: scripts only with the nonce, styles only from the extension, pictures only of
 * its own making (the ones to be saved), nothing else at all.
 */
export function panelHtml({ script, style, cspSource }: PanelResources, language: string): string {
  const nonce = crypto.randomUUID().replaceAll("-", "");
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${cspSource}; img-src blob:;`;
  return `<!DOCTYPE html>
<html lang="${attribute(language)}">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${attribute(style)}">
<title>Llama Gauge</title>
</head>
<body>
<div id="page"></div>
<script nonce="${nonce}" src="${attribute(script)}"></script>
</body>
</html>`;
}

const attribute = (value: string): string => value.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
