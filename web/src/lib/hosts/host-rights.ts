import type { HostRight } from '#proto/managed-hosts.ts'

/** What each right of a database user allows. */
export const rightLabels: Readonly<Record<HostRight, string>> = {
  system: 'Read system tables',
  objects: 'See all tables and columns',
  access: 'See users, roles and quotas',
  remote: 'Read all hosts of a cluster',
  findings: 'Store insights on the host',
  'kill-query': 'Kill queries',
}

/** Returns whether monitoring is complete without a right. */
export const isOptionalRight = (right: HostRight): boolean => right === 'findings' || right === 'kill-query'
