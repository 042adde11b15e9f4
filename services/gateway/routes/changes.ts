import type { CallContext } from '#proto/call.ts'
import { ChangesQuery, ChangesResponse } from '#proto/http/changes.ts'
import type { Host } from '#proto/query.ts'
import { readTimeline } from '#shared/changes/timeline.ts'
import { canManageUsers, findRouteAccessError } from '../features/authorization.ts'
import { canSeeInstallation } from '../hosts/host-list.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const dayMs = 86_400_000

const changes = defineGetRoute({
  path: '/api/v1/changes',
  doc: 'Lists what changed on hosts and around them: schema, settings, access, topology, versions, restarts, workload, deployments, alerts and actions',
  feature: 'METRICS',
  access: 'read',
  limit: 'data',
  query: ChangesQuery,
  answer: ChangesResponse,
  handle: async ({ query: { hostId, group, kind, from, to, limit }, call }, gateway) => {
    const toMs = to === undefined ? gateway.clock.now() : to * 1_000
    const fromMs = from === undefined ? toMs - dayMs : from * 1_000
    const hosts = await selectHosts(gateway, hostId, group)
    const showsInstallation = await canSeeInstallation(gateway.hosts)
    const request = { hosts, kind, fromMs, toMs, limit, showsInstallation }
    const { query, ingest, alerts } = gateway
    const actions = await createActionReader(gateway, call, toMs)
    const sources = { query, ingest, alerts, actions }
    const { changes: found, isRecorded, problems } = await readTimeline(sources, request, call)
    return createSuccessBody(found, { isRecorded, problems })
  },
})

const maxActions = 500

/** Returns the reader of the audit log; undefined for callers who may not see it. */
const createActionReader = async (gateway: Gateway, call: CallContext, toMs: number) => {
  if (findRouteAccessError({ access: 'write', feature: 'ACTIONS' }, call.identity, gateway.policy())) return undefined
  const reader = (await canManageUsers(gateway, call)) ? undefined : call.identity.subject
  return () => gateway.audit.list({ reader, beforeMs: toMs, limit: maxActions })
}

const selectHosts = async (
  { hosts }: Gateway,
  hostId: number | undefined,
  group: string | undefined,
): Promise<Host[]> => {
  const selected = hostId === undefined ? await hosts.all() : [await hosts.find(hostId)]
  return selected.filter((host) => group === undefined || host.group === group)
}

export const changeRoutes: readonly Route[] = [changes]
