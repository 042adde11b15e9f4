import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { SettledId } from '#proto/alert-policy.ts'
import type { Settling, AlertPolicy, Settled } from '#proto/alerting.ts'
import type { Call } from '#proto/call.ts'
import { SettledIdAnswer } from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptFor } from '#shared/seal/transit.ts'
import { beginningOf } from '#shared/text/cut.ts'
import type { Gateway } from '../gateway.ts'
import { deleteRoute, postRoute, putRoute, type Route } from '../http-route.ts'
import { parse } from '../request/parse.ts'
import { success } from '../response/envelope.ts'

type Listed = Extract<Settling, { value: { id: string } }>

/** One kind of thing of which operators settle several. */
interface Family<N extends z.ZodType, C extends z.ZodType> {
  /** Below /api/v1/health. */
  name: string
  kind: Listed['kind']
  /** What one is called in sentences. */
  noun: string
  added: N
  changed: C
  /** The id of one that is added. */
  newId(body: z.output<N>): string
  settling(id: string, body: z.output<N> | z.output<C>, gateway: Gateway): Promise<Listed> | Listed
}

const common = {
  feature: 'HEALTH',
  access: 'write',
  limit: 'data',
  query: noQuery,
  answer: SettledIdAnswer,
} as const
const IdPath = z.object({ id: SettledId })

/** The routes that add, change and remove things of one kind. */
export const settledRoutes = <N extends z.ZodType, C extends z.ZodType>(family: Family<N, C>): readonly Route[] => {
  const { name, kind, noun, added, changed, settling, newId } = family
  const path = `/api/v1/health/${name}`
  return [
    postRoute({
      ...common,
      path,
      doc: `Adds ${noun}`,
      body: added,
      handle: async (asked, gateway) => {
        const id = newId(asked.body)
        await settle(gateway, asked, await settling(id, asked.body, gateway), 'new')
        return success({ id }, {})
      },
    }),
    putRoute({
      ...common,
      path: `${path}/{id}`,
      doc: `Replaces ${noun}, one from a file too`,
      body: changed,
      handle: async (asked, gateway) => {
        const { id } = parse(IdPath, asked.path)
        await settle(gateway, asked, await settling(id, asked.body, gateway), 'known')
        return success({ id }, {})
      },
    }),
    deleteRoute({
      ...common,
      path: `${path}/{id}`,
      doc: `Removes ${noun}`,
      handle: async (asked, gateway) => {
        const { id } = parse(IdPath, asked.path)
        await unsettle(gateway, asked, { kind, id })
        return success({ id }, {})
      },
    }),
  ]
}

/** Tells apart what has the same name. */
export const randomHex = (): string => randomBytes(4).toString('hex')

/** A request that settles something. */
interface Asked {
  call: Call
  requestId: string
}

type Standing = 'new' | 'known' | null

/** Settles one thing, once that is on record; gives all that is settled then. */
export const settle = (
  gateway: Gateway,
  { call, requestId }: Asked,
  settling: Settling,
  mustBe: Standing = null,
): Promise<AlertPolicy> => {
  const deed = { action: `settle-${settling.kind}`, host: null, target: { ...idOf(settling), ...namesOf(settling) } }
  return gateway.audit.of(deed, { call, requestId }, async () =>
    gateway.alerts.settle({ ...(await withoutSecrets(gateway, settling, call)), mustBe }, call),
  )
}

/** Fields of whose values each may be a secret. */
const secretFields: Readonly<Partial<Record<Settling['kind'], readonly string[]>>> = {
  channel: ['settings'],
  'webhook-target': ['url', 'headers'],
}

const withoutSecrets = async (gateway: Gateway, settling: Settling, call: Call) => {
  const names = new Set(secretFields[settling.kind])
  const given = Object.entries(settling.value).filter(([, each]) => each !== undefined)
  const secrets = given.filter(([name]) => names.has(name))
  if (secrets.length === 0) return { settling }
  const encrypted = await encryptForAlerts(gateway, Object.fromEntries(secrets), call)
  const value = Object.fromEntries(given.filter(([name]) => !names.has(name)))
  // Of all kinds only those above get here, and what is taken from them may be absent.
  return { settling: { ...settling, value } as Settling, encrypted }
}

/** Takes back what was settled here, once that is on record; gives all that is settled then. */
export const unsettle = (
  { alerts, audit }: Gateway,
  { call, requestId }: Asked,
  settled: Settled,
): Promise<AlertPolicy> => {
  const deed = { action: `unsettle-${settled.kind}`, host: null, target: idOf(settled) }
  return audit.of(deed, { call, requestId }, () => alerts.unsettle({ settled }, call))
}

const idOf = (named: Settling | Settled): Record<string, string> => ('id' in named ? { id: named.id } : {})

const longestText = 200

/** What it was settled to, as the audit keeps it. */
const namesOf = ({ value }: Settling): Record<string, string> =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined && each !== null)
      .map(([name, each]) => [name, secrets.has(name) ? 'given' : beginningOf(textOf(each), longestText)]),
  )

/** Of these it is known only that they were given. */
const secrets: ReadonlySet<string> = new Set(['url'])

/** Of what has fields of its own their names: there may be secrets among them. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).join(', ') : String(value)

/** Secrets as they may travel: whoever reads the bus learns none of them, since only `alert-dispatcher` opens them. */
export const encryptForAlerts = async (
  { alerts }: Pick<Gateway, 'alerts'>,
  secrets: object,
  call: Call,
): Promise<string> => encryptFor(await alerts.alertSecretsKey({}, call), secrets)
