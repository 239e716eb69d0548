import { secretMask } from "./launchBuilder";
import { withoutSecrets } from "../withoutSecrets";
import { optionOfFlag, serverOptions } from "./serverOptions";

const secretVariables: ReadonlySet<string> = new Set(
  serverOptions.flatMap((option) => (option.secret && option.env !== undefined ? [option.env] : [])),
);

/** The arguments with every key and token replaced, also those in addresses, for anything that is shown, logged, copied or kept. */
export function maskSecrets(argv: readonly string[]): string[] {
  return argv.map((word, index) => {
    const before = argv[index - 1];
    if (before !== undefined && optionOfFlag(before)?.option.secret === true) return secretMask;
    const equals = word.indexOf("=");
    if (equals > 0) {
      const name = word.slice(0, equals);
      const secret = optionOfFlag(name)?.option.secret === true || secretVariables.has(name);
      if (secret) return `${name}=${secretMask}`;
    }
    return withoutSecrets(word);
  });
}

/** Keys of variables whose values must not be kept. */
export function isSecretVariable(name: string): boolean {
  return secretVariables.has(name);
}
