import path from "node:path";
import { parseArguments } from "../../core/launch/commandLine";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { configOptions, type SystemConfig } from "../../core/preset/systemConfig";
import { thisHome, type HomeOf } from "../gguf/modelFinderPlaces";
import { textOfRegular } from "../reading/regularFile";

const maxBytes = 2 ** 20;

/** Where programs of llama.cpp look for settings that hold for all of them; the later counts (common/arg.cpp). */
function configFiles({ platform, home, env }: HomeOf): readonly string[] {
  const set = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  if (platform === "win32") {
    const folders = [set("PROGRAMDATA"), set("APPDATA")];
    return folders.flatMap((folder) =>
      folder === undefined ? [] : [path.win32.join(folder, "llama.cpp", "config.ini")],
    );
  }
  const own = set("XDG_CONFIG_HOME") ?? (home === "" ? undefined : path.posix.join(home, ".config"));
  const ofUser = own === undefined ? [] : [path.posix.join(own, "llama.cpp", "config.ini")];
  return ["/etc/llama.cpp/config.ini", ...ofUser];
}

/** What the `config.ini` files set. `root`: of the file system of another process. Files that cannot be read say nothing. */
export async function systemOptions(home: HomeOf = thisHome(), root = ""): Promise<LaunchOptions> {
  const configs: SystemConfig[] = [];
  for (const file of configFiles(home)) {
    try {
      const there = root + file;
      configs.push({ file, text: await textOfRegular(there, { most: maxBytes }) });
    } catch {
      // most people have none
    }
  }
  return configOptions(configs);
}

/** What a llama-server started from here gets besides its arguments: settings of the system, over them variables. */
export async function inheritedOptions(home: HomeOf = thisHome()): Promise<LaunchOptions> {
  return { ...(await systemOptions(home)), ...parseArguments([], home.env).options };
}
