import type { Handlers, Service } from '#proto/contract.ts'
import type { postgresSourceMethods } from '#proto/postgres-source.ts'
import { readActivity } from './activity.ts'
import { readLocks } from './locks.ts'
import { readReplication } from './replication.ts'
import type { PostgresSource } from './source.ts'
import { readStatements } from './statements.ts'
import { readStatus } from './status.ts'
import { readTables } from './tables.ts'

/** What handlers work with that ask the PostgreSQL source. */
export interface WithPostgresSource {
  postgresSource: PostgresSource
}

/** The methods about the PostgreSQL source. */
export const postgresSourceHandlers = ({
  postgresSource: source,
}: WithPostgresSource): Handlers<Service<typeof postgresSourceMethods>> => ({
  postgresOffered: async () => ({ isOffered: source.isOffered }),
  postgresStatus: () => readStatus(source),
  postgresActivity: (asked) => readActivity(source, asked),
  postgresStatements: (asked) => readStatements(source, asked),
  postgresTables: (asked) => readTables(source, asked),
  postgresReplication: () => readReplication(source),
  postgresLocks: ({ withValues }) => readLocks(source, withValues),
})
