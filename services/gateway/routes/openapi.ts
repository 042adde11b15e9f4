import { noQuery } from '#proto/http/parameters.ts'
import { OpenApi } from '#proto/http/openapi.ts'
import { ServiceError } from '#proto/errors.ts'
import { withNames } from '../openapi/document.ts'
import { getRoute } from '../route.ts'

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
