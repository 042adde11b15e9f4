import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { AlertConfigId } from '#proto/alert-policy.ts'
import type { AlertConfigUpdate, AlertPolicy, AlertConfigKey } from '#proto/alerting.ts'
import type { CallContext } from '#proto/call.ts'
import { AlertConfigIdResponse } from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptForTransit } from '#shared/seal/transit.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { Gateway } from '../gateway.ts'
import { defineDeleteRoute, definePostRoute, definePutRoute, type Route } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'

type Listed = Extract<AlertConfigUpdate, { value: { id: string } }>

/** A kind of alert configuration with a list of entries, such as quiet hours. */
interface Family<N extends z.ZodType, C extends z.ZodType> {
  /** Path segment below /api/v1/health. */
  name: string
  kind: Listed['kind']
  /** Name of an entry with its article, for documentation. */
  noun: string
  added: N
  changed: C
  /** Returns the id of a new entry. */
  newId(body: z.output<N>): string
  update(id: string, body: z.output<N> | z.output<C>, gateway: Gateway): Promise<Listed> | Listed
}

const common = {
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  query: noQuery,
  answer: AlertConfigIdResponse,
} as const
const IdPath = z.object({ id: AlertConfigId })

/** Returns the routes that add, replace and delete entries of one kind. */
export const createAlertConfigRoutes = <N extends z.ZodType, C extends z.ZodType>(
  family: Family<N, C>,
): readonly Route[] => {
  const { name, kind, noun, added, changed, update, newId } = family
  const path = `/api/v1/health/${name}`
  return [
    definePostRoute({
      ...common,
      path,
      doc: `Adds ${noun}`,
      body: added,
      handle: async (request, gateway) => {
        const id = newId(request.body)
        await updateAlertConfig(gateway, request, await update(id, request.body, gateway), 'new')
        return createSuccessBody({ id }, {})
      },
    }),
    definePutRoute({
      ...common,
      path: `${path}/{id}`,
      doc: `Replaces ${noun}, including one from a file`,
      body: changed,
      handle: async (request, gateway) => {
        const { id } = parseRequestInput(IdPath, request.path)
        await updateAlertConfig(gateway, request, await update(id, request.body, gateway), 'known')
        return createSuccessBody({ id }, {})
      },
    }),
    defineDeleteRoute({
      ...common,
      path: `${path}/{id}`,
      doc: `Deletes ${noun}`,
      handle: async (request, gateway) => {
        const { id } = parseRequestInput(IdPath, request.path)
        await deleteAlertConfig(gateway, request, { kind, id })
        return createSuccessBody({ id }, {})
      },
    }),
  ]
}

/** Returns eight random hexadecimal digits, which make ids of entries with equal names unique. */
export const generateHexSuffix = (): string => randomBytes(4).toString('hex')

/** The request that changes the configuration, for the audit log. */
interface ConfigRequest {
  call: CallContext
  requestId: string
  isCallerLocal: boolean
}

/** Whether an entry must be new or must exist; null allows both. */
type Precondition = 'new' | 'known' | null

/** Updates one entry after the audit record is written; returns the whole configuration. */
export const updateAlertConfig = (
  gateway: Gateway,
  { call, requestId, isCallerLocal }: ConfigRequest,
  update: AlertConfigUpdate,
  mustBe: Precondition = null,
): Promise<AlertPolicy> => {
  const action = { action: `update-${update.kind}`, host: null, target: { ...idOf(update), ...auditValuesOf(update) } }
  return gateway.audit.of(action, { call, requestId }, async () =>
    gateway.alerts.updateAlertConfig(
      { ...(await encryptSecretFields(gateway, update, call)), mustBe, isCallerLocal },
      call,
    ),
  )
}

/** Fields that may contain secrets, by kind. They are encrypted for the bus. */
const secretFields: Readonly<Partial<Record<AlertConfigUpdate['kind'], readonly string[]>>> = {
  channel: ['settings'],
  'webhook-target': ['url', 'headers'],
}

const encryptSecretFields = async (gateway: Gateway, update: AlertConfigUpdate, call: CallContext) => {
  const names = new Set(secretFields[update.kind])
  const given = Object.entries(update.value).filter(([, each]) => each !== undefined)
  const secrets = given.filter(([name]) => names.has(name))
  if (secrets.length === 0) return { update }
  const encrypted = await encryptAlertSecrets(gateway, Object.fromEntries(secrets), call)
  const value = Object.fromEntries(given.filter(([name]) => !names.has(name)))
  // Only the kinds in `secretFields` get here, and their secret fields are optional.
  return { update: { ...update, value } as AlertConfigUpdate, encrypted }
}

/** Deletes one entry after the audit record is written; returns the whole configuration. */
export const deleteAlertConfig = (
  { alerts, audit }: Gateway,
  { call, requestId }: Pick<ConfigRequest, 'call' | 'requestId'>,
  key: AlertConfigKey,
): Promise<AlertPolicy> => {
  const action = { action: `delete-${key.kind}`, host: null, target: idOf(key) }
  return audit.of(action, { call, requestId }, () => alerts.deleteAlertConfig({ key }, call))
}

const idOf = (named: AlertConfigUpdate | AlertConfigKey): Record<string, string> =>
  'id' in named ? { id: named.id } : {}

const maxTextLength = 200

/** Returns the new values for the audit record, without secrets and truncated. */
const auditValuesOf = ({ value }: AlertConfigUpdate): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined && each !== null)
      .map(([name, each]) => [name, auditSecrets.has(name) ? 'given' : shortenText(textOf(name, each), maxTextLength)]),
  )

/** Fields whose values are replaced by `given` in the audit record. */
const auditSecrets: ReadonlySet<string> = new Set(['url'])

/**
 * Returns a value as text. An object is reduced to its field names, because its values may be secrets. Thresholds are
 * none.
 */
const textOf = (name: string, value: unknown): string => {
  if (name === 'hostThresholds') return JSON.stringify(value)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.keys(value).join(', ')
    : String(value)
}

/** Encrypts secrets for the bus; only `alert-dispatcher` can decrypt them. */
export const encryptAlertSecrets = async (
  { alerts }: Pick<Gateway, 'alerts'>,
  secrets: object,
  call: CallContext,
): Promise<string> => encryptForTransit(await alerts.alertSecretsKey({}, call), secrets)
