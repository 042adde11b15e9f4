import { type Feature, mayUseFeature } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { type SetupItem, SetupResponse } from '#proto/http/setup.ts'
import { defineGetRoute } from '../http-route.ts'
import { describeSetup } from '../installation/setup.ts'
import { createSuccessBody } from '../response/envelope.ts'

/** The features that the steps require. */
const requiredFeatures: Readonly<Partial<Record<SetupItem['id'], Feature>>> = {
  channel: 'HEALTH',
  alerting: 'HEALTH',
  agent: 'AGENT',
}

/** The route reads only states that the services already have, so it queries no host. */
export const setupRoute = defineGetRoute({
  path: '/api/v1/setup',
  doc: 'Returns the state of each step of a new installation, and what is missing',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: SetupResponse,
  handle: async ({ call }, { hosts, hostStates, query, alerts, agent, policy }) => {
    const [monitored, states, history, targets, alerting, swept, model] = await Promise.all([
      hosts.all(),
      hostStates.lastSeen(),
      ifAnswered(query.historyState({}, call)),
      ifAnswered(alerts.alertTargets({}, call)),
      ifAnswered(alerts.alertPolicy({}, call)),
      ifAnswered(alerts.alertState({ figuresOnly: true }, call)),
      ifAnswered(agent.modelCheck({}, call)),
    ])
    const { permissions } = policy()
    const isOffered = ({ id }: SetupItem): boolean => {
      const feature = requiredFeatures[id]
      return feature === undefined || (permissions[feature].enabled && mayUseFeature(call.identity, feature))
    }
    const facts = { hosts: monitored.filter(({ id }) => id >= 0), states, history, targets, model }
    const general = alerting?.general
    const items = describeSetup({ ...facts, general, sweptAtMs: swept?.sweptAtMs }).filter(isOffered)
    return createSuccessBody(items, { open: items.filter(({ state }) => state === 'open').length })
  },
})

/** Returns undefined for an error of the service, so that the other steps are still shown. */
const ifAnswered = <T>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof ServiceError) return undefined
    throw error
  })
