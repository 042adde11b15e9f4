import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { SettledId } from '#proto/alert-policy.ts'
import type { Settling } from '#proto/alerting.ts'
import { SettledIdAnswer } from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import type { Gateway } from '../gateway.ts'
import { parse } from '../request/parse.ts'
import { deleteRoute, postRoute, putRoute, type Route } from '../http-route.ts'
import { settle, unsettle } from './alert-config.ts'
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
