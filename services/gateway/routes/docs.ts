import { ServiceError } from '#proto/errors.ts'
import { DocAnswer, DocsAnswer } from '#proto/http/docs.ts'
import { OpenApi } from '#proto/http/openapi.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { withNames } from '../openapi/document.ts'
import { success } from '../response/envelope.ts'
import { getRoute, type Route } from '../http-route.ts'

const common = { feature: 'DOCS', access: 'read', limit: 'data', query: noQuery, revalidated: true } as const

const list = getRoute({
  ...common,
  path: '/api/v1/docs',
  doc: 'The texts of the documentation that was built in, in their order',
  answer: DocsAnswer,
  handle: async (_given, { docs }) =>
    success(
      docs.map(({ id, title }) => ({ id, title })),
      { count: docs.length },
    ),
})

const one = getRoute({
  ...common,
  path: '/api/v1/docs/{page}',
  doc: 'One text of the documentation, in Markdown',
  answer: DocAnswer,
  handle: async ({ path: { page } }, { docs }) => {
    const text = docs.find(({ id }) => id === page)
    if (!text)
      throw new ServiceError('not-found', 'no such text of the documentation: /api/v1/docs lists those there are')
    return success(text, {})
  },
})

/** What people read of the product, for whoever may. */
export const docRoutes: readonly Route[] = [list, one]

export const openApi = getRoute({
  path: '/api/v1/openapi.json',
  doc: 'This document: every route, with the names of all charts and tables in force',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: OpenApi,
  mediaType: 'application/openapi+json',
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const document = await gateway.document()
    const catalogue = await gateway.query.catalogue({}, call).catch(ignoreSilence)
    return OpenApi.parse(catalogue ? withNames(document, catalogue) : document)
  },
})

/** A client can be written against the paths while nobody tells the names. */
const ignoreSilence = (error: unknown): undefined => {
  if (error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'timeout')) return undefined
  throw error
}
