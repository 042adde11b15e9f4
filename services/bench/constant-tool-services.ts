import { once } from 'node:events'
import { startServices } from '../testing/mcp-conformance/services.ts'
import { registerConstantTool } from './constant-tool.ts'
import { reportAddress } from './report-address.ts'

/** Runs services of the product with an additional constant tool. Run as a process, with the service names. */
const names = process.argv.slice(2)
const { NATS_URL } = process.env
const env = {
  HOST: '127.0.0.1',
  PORT: '0',
  LOG_LEVEL: 'error',
  // Nothing listens on this address, and the benchmark queries no host.
  COLUMNDB_HOST: 'http://127.0.0.1:9',
  SVC_MCP_PUBLIC: 'true',
  RATE_LIMIT_MCP_PER_MIN: '100000000',
  ...(NATS_URL !== undefined && { NATS_URL }),
}
await using running = await startServices({
  names,
  env,
  further: { options: {}, sendsNotifications: false, offer: registerConstantTool },
})
reportAddress(running.url ?? 'http://127.0.0.1')
await once(process, 'SIGTERM')
