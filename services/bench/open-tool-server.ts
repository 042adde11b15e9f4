import { once } from 'node:events'
import { startServices } from '../testing/conformance/services.ts'
import { offerConstant } from './constant-tool.ts'
import { sayListening } from './say-listening.ts'

/** Services of the product whose tool server has a constant tool besides. Run as a process, with their names. */
const names = process.argv.slice(2)
const { NATS_URL } = process.env
const env = {
  HOST: '127.0.0.1',
  PORT: '0',
  LOG_LEVEL: 'error',
  // Nobody listens there, and nobody is asked.
  COLUMNDB_HOST: 'http://127.0.0.1:9',
  SVC_MCP_PUBLIC: 'true',
  RATE_LIMIT_MCP_PER_MIN: '100000000',
  ...(NATS_URL !== undefined && { NATS_URL }),
}
await using running = await startServices({
  names,
  env,
  further: { options: {}, tellsOnTheWay: false, offer: offerConstant },
})
sayListening(running.url ?? 'http://127.0.0.1')
await once(process, 'SIGTERM')
