import type { AlertPolicy } from '#proto/alerting.ts'
import {
  AlertChannelRequest,
  AlertConfigAnswer,
  AlertConfigRequest,
  AlertDigestAnswer,
  AlertDigestRequest,
  CheckAlertsAnswer,
  CheckAlertsRequest,
} from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { deleteRoute, getRoute, putRoute, type Route } from '../http-route.ts'
import { settle, unsettle } from '../alert-config/alert-config.ts'
import { success } from '../response/envelope.ts'

const common = { feature: 'HEALTH', limit: 'data', query: noQuery } as const
const reading = { ...common, access: 'read' } as const
const writing = { ...common, access: 'write' } as const

const configPath = '/api/v1/health/alert-config'
const channelPath = '/api/v1/health/alert-config/channels/{channel}'
const digestPath = '/api/v1/health/alert-digest'
const checksPath = '/api/v1/health/check-alerts'
const checkPath = '/api/v1/health/check-alerts/{checkId}'

const config = ({ general, digestMinutes, channels, webhookTargets, lasting }: AlertPolicy) =>
  success({ general, digestMinutes, channels, webhookTargets }, { lasting })
const digest = ({ digestMinutes, lasting }: AlertPolicy) => success(digestMinutes, { lasting })
const checks = ({ rules, lasting }: AlertPolicy) => success(rules, { lasting, count: rules.length })

const configRoutes: readonly Route[] = [
  getRoute({
    ...reading,
    path: configPath,
    doc: 'What holds for all alerts, and whether it comes from the database, a file, a variable or a default',
    answer: AlertConfigAnswer,
    handle: async ({ call }, { alerts }) => config(await alerts.alertPolicy({}, call)),
  }),
  putRoute({
    ...writing,
    path: configPath,
    doc: 'Settles what holds for all alerts; absent fields are left to files, variables and defaults',
    body: AlertConfigRequest,
    answer: AlertConfigAnswer,
    handle: async (asked, gateway) => config(await settle(gateway, asked, { kind: 'general', value: asked.body })),
  }),
  deleteRoute({
    ...writing,
    path: configPath,
    doc: 'Leaves what holds for all alerts to files, variables and defaults',
    answer: AlertConfigAnswer,
    handle: async (asked, gateway) => config(await unsettle(gateway, asked, { kind: 'general' })),
  }),
  putRoute({
    ...writing,
    path: channelPath,
    doc: 'Switches a channel on or off, or settles the least severity that it gets',
    body: AlertChannelRequest,
    answer: AlertConfigAnswer,
    handle: async (asked, gateway) =>
      config(await settle(gateway, asked, { kind: 'channel', id: asked.path.channel, value: asked.body })),
  }),
  deleteRoute({
    ...writing,
    path: channelPath,
    doc: 'Leaves a channel to files and its variables',
    answer: AlertConfigAnswer,
    handle: async (asked, gateway) =>
      config(await unsettle(gateway, asked, { kind: 'channel', id: asked.path.channel })),
  }),
]

const digestRoutes: readonly Route[] = [
  getRoute({
    ...reading,
    path: digestPath,
    doc: 'For how long findings that are not critical are gathered into one message',
    answer: AlertDigestAnswer,
    handle: async ({ call }, { alerts }) => digest(await alerts.alertPolicy({}, call)),
  }),
  putRoute({
    ...writing,
    path: digestPath,
    doc: 'Settles for how long findings that are not critical are gathered',
    body: AlertDigestRequest,
    answer: AlertDigestAnswer,
    handle: async (asked, gateway) => digest(await settle(gateway, asked, { kind: 'digest', value: asked.body })),
  }),
  deleteRoute({
    ...writing,
    path: digestPath,
    doc: 'Leaves the gathering of findings to files, variables and defaults',
    answer: AlertDigestAnswer,
    handle: async (asked, gateway) => digest(await unsettle(gateway, asked, { kind: 'digest' })),
  }),
]

const checkRoutes: readonly Route[] = [
  getRoute({
    ...reading,
    path: checksPath,
    doc: 'Rules about which something is settled, and where each field comes from',
    answer: CheckAlertsAnswer,
    handle: async ({ call }, { alerts }) => checks(await alerts.alertPolicy({}, call)),
  }),
  putRoute({
    ...writing,
    path: checkPath,
    doc: 'Settles whether a rule is watched, from which severity people are told, its thresholds and its hysteresis',
    body: CheckAlertsRequest,
    answer: CheckAlertsAnswer,
    handle: async (asked, gateway) =>
      checks(await settle(gateway, asked, { kind: 'rule', id: asked.path.checkId, value: asked.body })),
  }),
  deleteRoute({
    ...writing,
    path: checkPath,
    doc: 'Leaves a rule to files, variables and its own definition',
    answer: CheckAlertsAnswer,
    handle: async (asked, gateway) => checks(await unsettle(gateway, asked, { kind: 'rule', id: asked.path.checkId })),
  }),
]

/** What holds for all alerts, for channels and for single rules. */
export const healthSettingsRoutes: readonly Route[] = [...configRoutes, ...digestRoutes, ...checkRoutes]
