import type { Further } from '../../mcp/protocol/server.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { startServices } from './services.ts'

/** The product as whoever can reach it meets it. */
interface OpenProduct extends AsyncDisposable {
  url: string
  hostUrl: string
}

/** The product in this process, with one host; its tool server offers more when it is told to. */
export const startOpenProduct = async (further?: Further): Promise<OpenProduct> => {
  await using opening = new AsyncDisposableStack()
  const sandbox = opening.use(await startSandbox())
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    COLUMNDB_HOST: sandbox.url,
    COLUMNDB_USER: 'default',
    // What would never end by itself ends while a test waits for it.
    COLUMNDB_MAX_EXECUTION_TIME: '5',
    SVC_MCP_PUBLIC: 'true',
    RATE_LIMIT_MCP_PER_MIN: '100000',
  }
  const { url = '' } = opening.use(await startServices({ env, further }))
  const running = opening.move()
  return { url, hostUrl: sandbox.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
