/** A server process for tests, shared by all tests if an environment variable sets its address. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** Kills the server, like a crash. Its files stay. */
  kill(): Promise<void>
  /** Restarts the server with the same address and files, whether or not it still runs. */
  restart(): Promise<void>
  /** Stops the server gracefully and removes its files. */
  stop(): Promise<void>
}

/** Common options of the start functions. */
export interface ServerOptions {
  /** Whether to ignore address variables, because the test kills the server or must not share it. */
  private?: boolean
}

/** Returns a server from an address variable, which tests must not stop. */
export const addressed = (url: string, stop: () => Promise<void> = async () => {}): TestServer => {
  const refuse = async () => {
    throw new Error(`${new URL(url).protocol} server is from the environment; set \`private\` to stop it`)
  }
  return { url, kill: refuse, restart: refuse, stop, [Symbol.asyncDispose]: stop }
}
