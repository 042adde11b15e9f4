import type { AdditionalTools } from '../../mcp/protocol/server.ts'
import { startSandbox } from '../../sandbox/start.ts'
import { startServices } from './services.ts'

/** The product with an MCP endpoint that requires no authentication. */
interface OpenProduct extends AsyncDisposable {
  url: string
  hostUrl: string
}

/** Starts the product in this process with one host and optional additional tools. */
export const startOpenProduct = async (further?: AdditionalTools): Promise<OpenProduct> => {
  await using opening = new AsyncDisposableStack()
  const sandbox = opening.use(await startSandbox())
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    COLUMNDB_HOST: sandbox.url,
    COLUMNDB_USER: 'default',
    // The suite leaves streams open. With a short limit, the product closes them while the test waits.
    COLUMNDB_MAX_EXECUTION_TIME: '5',
    SVC_MCP_PUBLIC: 'true',
    RATE_LIMIT_MCP_PER_MIN: '100000',
  }
  const { url = '' } = opening.use(await startServices({ env, further }))
  const running = opening.move()
  return { url, hostUrl: sandbox.url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}
