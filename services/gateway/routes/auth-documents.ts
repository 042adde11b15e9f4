import { ServiceError } from '#proto/errors.ts'
import { ApiCatalog, ProtectedResource, CliDiscovery } from '#proto/http/auth.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { createCliDiscovery, createAuthNotes } from '../auth/discovery.ts'
import { resolveTokenIssuer } from '../auth/idp/issuer.ts'
import { defineGetRoute, type Route, defineTextRoute } from '../http-route.ts'

const open = { feature: null, access: 'anonymous', limit: 'data', query: noQuery } as const

const notes = defineTextRoute({
  ...open,
  path: '/auth.md',
  doc: 'Instructions for agents on how to authenticate',
  mediaType: 'text/markdown; charset=utf-8',
  handle: async ({ publicUrl }, gateway) =>
    createAuthNotes({
      discovery: createCliDiscovery(gateway),
      publicUrl: publicUrl(),
      issuer: resolveTokenIssuer(gateway),
    }),
})

/** Returns the metadata route of a resource, whose path follows the well-known path (RFC 9728 §3.1). */
const protectedResource = (resource: '' | '/api/mcp'): Route =>
  defineGetRoute({
    ...open,
    path: `/.well-known/oauth-protected-resource${resource}`,
    doc: 'Returns the issuer of accepted OAuth tokens (RFC 9728)',
    cacheForSeconds: 3_600,
    answer: ProtectedResource,
    handle: async ({ publicUrl }, gateway) => {
      const issuer = resolveTokenIssuer(gateway)
      if (issuer === undefined) throw new ServiceError('not-found', 'no identity provider is configured for OAuth')
      return {
        resource: `${publicUrl()}${resource}`,
        authorization_servers: [issuer],
        bearer_methods_supported: ['header' as const],
        resource_name: 'Watchhouse',
        resource_documentation: `${publicUrl()}/auth.md`,
      }
    },
  })

const catalogPath = '/.well-known/api-catalog'

const catalogDocument = defineGetRoute({
  ...open,
  path: catalogPath,
  doc: 'Links to the API and its documentation (RFC 9727)',
  mediaType: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  answer: ApiCatalog,
  handle: async ({ publicUrl }) => {
    const at = publicUrl()
    return {
      linkset: [
        {
          anchor: `${at}/api/v1`,
          'service-desc': [{ href: `${at}/api/v1/openapi.json`, type: 'application/openapi+json' }],
          'service-doc': [{ href: `${at}/auth.md`, type: 'text/markdown' }],
          status: [{ href: `${at}/api/health`, type: 'application/json' }],
        },
      ],
    }
  },
})

/** The catalog route, which also sends a Link header for HEAD requests (RFC 9727 §2). */
const catalog: Route = {
  ...catalogDocument,
  respond: (exchange, gateway, reply) => {
    reply.link(`<${catalogPath}>; rel="api-catalog"`)
    return catalogDocument.respond(exchange, gateway, reply)
  },
}

/** Routes that describe the API and its authentication to programs. */
export const authDocumentRoutes: readonly Route[] = [
  notes,
  protectedResource(''),
  protectedResource('/api/mcp'),
  catalog,
]

/** Serves the authentication discovery document for command-line clients. */
export const authCliRoute = defineGetRoute({
  path: '/api/v1/auth/cli',
  doc: 'Returns how a command-line client can authenticate',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: CliDiscovery,
  handle: async (_request, gateway) => createCliDiscovery(gateway),
})
