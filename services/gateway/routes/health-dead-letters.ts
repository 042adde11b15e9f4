import type { z } from 'zod'
import { DeadLettersAnswer, DeadLettersQuery, ReplayAnswer, ReplayRequest } from '#proto/http/deliveries.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { joinedLetters, type LetterPage } from '../settling/joined-letters.ts'
import { getRoute, postRoute, type Route } from '../route.ts'
import { namedOr, shownOf } from '../hosts/shown-of.ts'
import { success } from '../response/success.ts'
import { visibleSubscriptions } from '../subscriptions/subscriber.ts'
import { watchedHosts } from '../hosts/watched-hosts.ts'

type Letter = z.input<typeof DeadLettersAnswer>['data'][number]

const common = { feature: 'HEALTH', limit: 'data' } as const

const deadLetters = getRoute({
  ...common,
  path: '/api/v1/health/dead-letters',
  doc: 'Alerts and inbound events that were given up, with the reason; the newest first. Those for a webhook subscription are shown to its owner, and to callers who may manage users',
  access: 'read',
  query: DeadLettersQuery,
  answer: DeadLettersAnswer,
  handle: async ({ query: { stream, ...page }, call }, gateway) => {
    const { hosts, alerts, ingest } = gateway
    const ofAlerts = async (): Promise<LetterPage<Letter>> => {
      const [nameOf, subscriptionsOf] = [await watchedHosts(hosts), await visibleSubscriptions(gateway, call)]
      const { letters, next } = await alerts.deadLetters({ ...page, subscriptionsOf }, call)
      return { letters: shownOf(letters, nameOf).map((letter) => ({ stream: 'DELIVER', ...letter })), next }
    }
    const ofEvents = async (): Promise<LetterPage<Letter>> => {
      const { letters, next } = await ingest.deadEvents(page, call)
      return { letters: letters.map((letter) => ({ stream: 'EVENTS', ...letter })), next }
    }
    const pages = await Promise.all([
      ...(stream === 'EVENTS' ? [] : [ofAlerts()]),
      ...(stream === 'DELIVER' ? [] : [ofEvents()]),
    ])
    const { letters, next } = joinedLetters(pages, page.limit)
    return success([...letters], { next })
  },
})

const replay = postRoute({
  ...common,
  path: '/api/v1/health/dead-letters/{id}/replay',
  doc: 'Sends an alert again that was given up, unless its receiver has been told of something later meanwhile, or hands an inbound event over again',
  access: 'write',
  query: noQuery,
  body: ReplayRequest,
  answer: ReplayAnswer,
  handle: async ({ path: { id }, body: { stream }, call, requestId }, gateway) => {
    const { hosts, alerts, ingest, audit } = gateway
    const action = stream === 'EVENTS' ? 'replay-event' : 'replay-alert'
    const deed = { action, host: null, target: { letter: id } }
    if (stream === 'EVENTS') {
      const letter = await audit.of(deed, { call, requestId }, () => ingest.replayDeadEvent({ id }, call))
      return success({ stream, ...letter }, {})
    }
    const [nameOf, subscriptionsOf] = [await watchedHosts(hosts), await visibleSubscriptions(gateway, call)]
    const replaying = () => alerts.replayDeadLetter({ id, subscriptionsOf }, call)
    const letter = await audit.of(deed, { call, requestId }, replaying)
    const { hostKey, ...shown } = letter
    return success({ stream, ...shown, ...namedOr(hostKey, nameOf) }, {})
  },
})

/** What was given up, and giving it another try. */
export const healthDeadLetterRoutes: readonly Route[] = [deadLetters, replay]
