import type { query } from '#proto/query.ts'
import type { Handlers } from '#proto/contract.ts'
import type { Parts } from './parts.ts'

/** The configured hosts as callers may see them. */
export const hosts =
  (parts: Parts): Handlers<typeof query>['hosts'] =>
  async () =>
    parts.hosts
      .list()
      .map(({ id, key, name, url, group, tags }) => ({ id, key, name, host: url.host, group, tags: [...tags] }))
