import type { Silence } from '#proto/alert-history.ts'
import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { inboundConditionMethods } from '#proto/inbound-conditions.ts'
import { openConditions } from './open-conditions.ts'
import { OpenCounts, countsKey, firingIn } from './places.ts'
import { findOpen, tellOpen } from './silence-events.ts'
import { requireLasting, type Alerting } from '../alerting.ts'
import { shown, holding, silenceOf } from '../conditions/handlers.ts'

type Handled = Pick<Handlers<typeof alerts>, keyof typeof inboundConditionMethods>

/** What people are told of conditions that inbound events begin, and what they say to them. */
export const inboundConditions = (alerting: Pick<Alerting, 'store' | 'stores' | 'clock'>): Handled => {
  const { store, stores, clock } = alerting
  return {
    async inboundConditions({ limit }) {
      const open = firingIn((await store.get(countsKey, OpenCounts)) ?? {})
      const found = limit === 0 ? [] : await openConditions(store, limit)
      const conditions = found.map(({ source, condition }) => ({ ...shown(condition), source }))
      return { conditions, open: Math.max(open, conditions.length) }
    },
    async silenceInbound({ episode, kind, minutes, note }, { identity }) {
      if (kind === 'ack') requireLasting(stores, 'acknowledging')
      const found = await findOpen(store, episode)
      if (!found) throw noSuchEpisode()
      const of = { episode, hostKey: null, ruleId: found.condition.ruleId }
      const said = silenceOf({ kind, minutes, note }, of, { by: identity.subject, atMs: clock.now() })
      // Where it lasts first: the sweep brings from there what did not get into the condition.
      await stores.silences.put(said)
      await tellOpen(store, said, said)
      return said
    },
    async unsilenceInbound({ episode, kind }) {
      if (kind === 'ack') requireLasting(stores, 'acknowledging')
      const said = (await holding(alerting)).find((each: Silence) => each.kind === kind && each.episode === episode)
      if (!said) throw noSuchEpisode()
      await stores.silences.remove(kind, episode)
      await tellOpen(store, said, null)
      return said
    },
  }
}

const noSuchEpisode = (): ServiceError =>
  new ServiceError('not-found', 'no such condition of an inbound event, or it is over', {
    details: { parameter: 'episode' },
  })
