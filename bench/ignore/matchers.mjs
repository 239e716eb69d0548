// The contenders: from the ignore files of a folder ("" or a folder in it → text) to what they say of a path in it.
import ignore from "ignore";
import { matchIgnoreFile, parseIgnoreFile } from "../../src/core/files/ignoreRules";

/** As a walk does it: what is in an ignored folder is ignored, and the deeper file is asked first. */
function walked(files, ask) {
  const deepestFirst = Object.keys(files).sort((a, b) => b.length - a.length);
  const folders = new Map();
  const decide = (name, isFolder) => {
    for (const at of deepestFirst) {
      if (at !== "" && !name.startsWith(`${at}/`)) continue;
      const answer = ask(at, at === "" ? name : name.slice(at.length + 1), isFolder);
      if (answer !== undefined) return answer;
    }
    return false;
  };
  const folderIgnored = (name) => {
    if (name === "") return false;
    const known = folders.get(name);
    if (known !== undefined) return known;
    const answer = folderIgnored(name.slice(0, Math.max(0, name.lastIndexOf("/")))) || decide(name, true);
    folders.set(name, answer);
    return answer;
  };
  return (name) => {
    if (name.endsWith("/")) return folderIgnored(name.slice(0, -1));
    return folderIgnored(name.slice(0, Math.max(0, name.lastIndexOf("/")))) || decide(name, false);
  };
}

export const contenders = [
  {
    name: "Llama Gauge",
    matcher: (files) => {
      const parsed = new Map(
        Object.entries(files).map(([at, text]) => [at, parseIgnoreFile(text, at, false)]),
      );
      return walked(files, (at, name, isFolder) => matchIgnoreFile(parsed.get(at), name, isFolder)?.ignored);
    },
  },
  {
    name: "ignore",
    matcher: (files) => {
      const parsed = new Map(
        Object.entries(files).map(([at, text]) => [at, ignore({ ignorecase: false }).add(text)]),
      );
      return walked(files, (at, name, isFolder) => {
        const { ignored, unignored } = parsed.get(at).test(isFolder ? `${name}/` : name);
        return ignored ? true : unignored ? false : undefined;
      });
    },
  },
];
