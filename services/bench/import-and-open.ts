import { Session } from 'chdb'

/** What a start cannot do without: every file that a start imports, and one engine session that has answered. */
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
