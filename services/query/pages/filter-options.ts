import { z } from 'zod'
import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { maxFilterOptions } from '#proto/table-page.ts'
import { unavailableBy } from '../clickhouse/availability.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import { optionsStatement } from '../definitions/table-statement.ts'
import { openPage } from './open-page.ts'
import type { Parts } from '../parts.ts'

const Rows = z.array(z.tuple([z.string(), z.number()]))

/** The values of one column of a table page. */
export const filterOptions =
  (parts: Parts): Handlers<typeof query>['filterOptions'] =>
  async (asked, call) => {
    const page = await openPage(parts, asked, call, (definition, circumstances) =>
      optionsStatement(definition, { ...asked, limit: maxFilterOptions }, circumstances),
    )
    const none = { options: [], truncated: false }
    if ('unavailable' in page) return { ...none, unavailable: page.unavailable }
    const { host, table, statement } = page
    try {
      const rows = Rows.safeParse((await parts.client.run(host, statement, call)).rows)
      if (!rows.success) throw hostFailure(host, 'garbage')
      const options = rows.data.slice(0, maxFilterOptions).map(([value, count]) => ({ value, rows: count }))
      return { options, truncated: rows.data.length > maxFilterOptions, unavailable: null }
    } catch (error) {
      const unavailable = unavailableBy(parts.client, host, table, error)
      if (unavailable) return { ...none, unavailable }
      throw error
    }
  }
