import { Session } from 'chdb'

/** The minimum work of a start: imports all modules and runs a statement in one session of the embedded engine. */
await import('../shared/bus/open.ts')
await import('../shared/store/open.ts')
await import('../shared/telemetry/open.ts')
await import('../query/service.ts')
await import('../report/service.ts')
await import('../mcp/service.ts')
await import('../alert-dispatcher/service.ts')
await import('../ingest/service.ts')
await import('../agent/service.ts')
await import('../gateway/service.ts')
await import('../sandbox/start.ts')

const session = new Session(process.argv[2])
session.query('SELECT 1')
session.close()
