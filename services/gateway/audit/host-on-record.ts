import type { Host } from '#proto/query.ts'

/** What the record calls a host. Whoever brings one names it too, and must not pass it off as one of the operator's. */
export const hostOnRecord = ({ key, name }: Pick<Host, 'key' | 'name'>): string =>
  key.startsWith('user:') ? `${name} (brought by the caller)` : name
