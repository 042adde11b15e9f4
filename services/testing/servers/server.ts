/** A real server that a test owns, or shares when it was found by its address. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  /** Ends the server at once, as a crash would. Its files stay. */
  kill(): Promise<void>
  /** Starts it again on the same address and files, whether or not it still runs. */
  restart(): Promise<void>
  /** Ends the server in good order and removes its files. */
  stop(): Promise<void>
}

/** What a start function accepts besides its own options. */
export interface ServerOptions {
  /** Never a server found by its address: the test wants to kill it, or to have it alone. */
  private?: boolean
}

/** A server that belongs to somebody else: used, never ended. */
export const addressed = (url: string, stop: () => Promise<void> = async () => {}): TestServer => {
  const refuse = async () => {
    throw new Error(`${new URL(url).protocol} server came from the environment; ask for a private one to end it`)
  }
  return { url, kill: refuse, restart: refuse, stop, [Symbol.asyncDispose]: stop }
}
