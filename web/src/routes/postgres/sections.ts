import type { Feature } from '#proto/call.ts'

/** The sections of the page. */
export const postgresSections = [
  { id: 'activity', title: 'Activity', feature: 'QUERIES' },
  { id: 'statements', title: 'Statements', feature: 'QUERIES' },
  { id: 'tables', title: 'Tables', feature: 'TABLES' },
  { id: 'replication', title: 'Replication', feature: 'CLUSTER' },
  { id: 'locks', title: 'Locks', feature: 'QUERIES' },
] as const satisfies readonly { id: string; title: string; feature: Feature }[]

export type PostgresSection = (typeof postgresSections)[number]

/** Returns the section in the URL, or the first one. */
export const findPostgresSection = (name: string | null): PostgresSection =>
  postgresSections.find(({ id }) => id === name) ?? postgresSections[0]
