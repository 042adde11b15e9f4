import { ServiceError } from '#proto/errors.ts'
import { DocResponse, DocsResponse } from '#proto/http/docs.ts'
import { OpenApiDocument } from '#proto/http/openapi.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { addNameEnums } from '../openapi/document.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { defineGetRoute, type Route } from '../http-route.ts'

const common = { feature: 'DOCS', access: 'read', limit: 'data', query: noQuery, revalidated: true } as const

const list = defineGetRoute({
  ...common,
  path: '/api/v1/docs',
  doc: 'Lists the pages of the built-in documentation in order',
  answer: DocsResponse,
  handle: async (_request, { docs }) =>
    createSuccessBody(
      docs.map(({ id, title }) => ({ id, title })),
      { count: docs.length },
    ),
})

const one = defineGetRoute({
  ...common,
  path: '/api/v1/docs/{page}',
  doc: 'Returns one page of the documentation, in Markdown',
  answer: DocResponse,
  handle: async ({ path: { page } }, { docs }) => {
    const text = docs.find(({ id }) => id === page)
    if (!text)
      throw new ServiceError('not-found', 'page not found in the documentation; GET /api/v1/docs lists all pages')
    return createSuccessBody(text, {})
  },
})

/** Routes of the documentation. */
export const docRoutes: readonly Route[] = [list, one]

export const openApiRoute = defineGetRoute({
  path: '/api/v1/openapi.json',
  doc: 'Returns this document: every route, with the names of all current charts and tables',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: OpenApiDocument,
  mediaType: 'application/openapi+json',
  revalidated: true,
  handle: async ({ call }, gateway) => {
    const document = await gateway.document()
    const catalogue = await gateway.query.catalogue({}, call).catch(ignoreUnavailable)
    return catalogue ? addNameEnums(document, catalogue) : document
  },
})

/** Ignores an unavailable `query`, because the document is still useful without the names of charts and tables. */
const ignoreUnavailable = (error: unknown): undefined => {
  if (error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'timeout')) return undefined
  throw error
}
