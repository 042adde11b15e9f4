/** A server for tests. If an environment variable sets its address, all tests share it. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** Kills the server with SIGKILL, like a crash. Its files are kept. */
  kill(): Promise<void>
  /** Restarts the server with the same address and files. It may have been killed before. */
  restart(): Promise<void>
  /** Stops the server gracefully and deletes its files. */
  stop(): Promise<void>
}

/** Common options of the start functions. */
export interface ServerOptions {
  /** Whether to ignore address variables. Set it if the test kills the server or must not share it. */
  private?: boolean
}

/** Returns a server whose address an environment variable sets. It is shared, so `kill` and `restart` throw. */
export const createExternalServer = (url: string, stop: () => Promise<void> = async () => {}): TestServer => {
  const refuse = async () => {
    throw new Error(`cannot kill or restart the server at "${url}": its address comes from a variable; set \`private\``)
  }
  return { url, kill: refuse, restart: refuse, stop, [Symbol.asyncDispose]: stop }
}
