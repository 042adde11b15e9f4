import { mayUse, type Identity } from '#proto/call.ts'
import type { Catalogue } from '#proto/catalogue.ts'
import { CatalogueAnswer } from '#proto/http/data.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { getRoute } from '../http-route.ts'
import { success } from '../response/envelope.ts'

export const catalogue = getRoute({
  path: '/api/v1/catalogue',
  doc: 'Every chart and table page, for menus and generic pages',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: CatalogueAnswer,
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const all = await gateway.query.catalogue({}, call)
    return success(visibleTo(call.identity, all), {})
  },
})

/** The definitions whose features the caller may use: a menu must not lead to a refusal. */
export const visibleTo = (identity: Identity, { topics, charts, tables }: Catalogue): Catalogue => ({
  topics,
  charts: charts.filter(({ feature }) => mayUse(identity, feature)),
  tables: tables.filter(({ feature }) => mayUse(identity, feature)),
})
