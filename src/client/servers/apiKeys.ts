import type { SecretStorage } from "vscode";

/** API keys by server address, in VS Code's secret storage and nowhere else. */
export class ApiKeys {
  constructor(private readonly storage: SecretStorage) {}

  async get(serverUrl: string): Promise<string | undefined> {
    return this.storage.get(keyOf(serverUrl));
  }

  /** An empty key forgets the stored one. */
  async set(serverUrl: string, key: string): Promise<void> {
    if (key === "") await this.storage.delete(keyOf(serverUrl));
    else await this.storage.store(keyOf(serverUrl), key);
  }
}

const keyOf = (serverUrl: string): string => `apiKey ${new URL(serverUrl).origin}`;
