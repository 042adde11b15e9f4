import { call, type RouteData } from './call.ts'
import type { DatabaseTarget } from './connections.ts'

export type HostCheckResult = RouteData<'POST /api/v1/hosts/check'>

/** The fields of a monitored host that all users see. */
export interface HostDescription {
  label: string
  group: string | null
  tags: string[]
}

/** Checks a host. If the check fails, the promise still resolves, with the reason. */
export const checkHost = async (target: DatabaseTarget): Promise<HostCheckResult> =>
  (await call('POST /api/v1/hosts/check', { body: target })).data

/** Adds a monitored host. */
export const addHost = async (host: HostDescription, target: DatabaseTarget, saveUnreachable: boolean) =>
  (await call('POST /api/v1/hosts', { body: { ...host, ...target, saveUnreachable } })).data

/** Changes an added host. A target must include the credentials. */
export const changeHost = async (
  id: string,
  host: HostDescription,
  target: DatabaseTarget | undefined,
  saveUnreachable: boolean,
) => (await call('PUT /api/v1/hosts/{id}', { path: { id }, body: { ...host, ...target, saveUnreachable } })).data

export const removeHost = (id: string) => call('DELETE /api/v1/hosts/{id}', { path: { id } })
