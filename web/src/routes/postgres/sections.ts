import type { Feature } from '#proto/call.ts'

/** The sections of the page. */
export const sections = [
  { id: 'activity', title: 'Activity', feature: 'QUERIES' },
  { id: 'statements', title: 'Statements', feature: 'QUERIES' },
  { id: 'tables', title: 'Tables', feature: 'TABLES' },
  { id: 'replication', title: 'Replication', feature: 'CLUSTER' },
  { id: 'locks', title: 'Locks', feature: 'QUERIES' },
] as const satisfies readonly { id: string; title: string; feature: Feature }[]

export type Section = (typeof sections)[number]

/** Returns the section in the URL, or the first one. */
export const sectionOf = (name: string | null): Section => sections.find(({ id }) => id === name) ?? sections[0]
