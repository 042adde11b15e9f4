import type { AlertPolicy } from '#proto/alerting.ts'
import {
  AlertChannelRequest,
  AlertConfigResponse,
  AlertConfigRequest,
  AlertDigestResponse,
  AlertDigestRequest,
  CheckAlertsResponse,
  CheckAlertsRequest,
} from '#proto/http/alerts.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { defineDeleteRoute, defineGetRoute, definePutRoute, type Route } from '../http-route.ts'
import { updateAlertConfig, deleteAlertConfig } from '../alert-config/alert-config.ts'
import { createSuccessBody } from '../response/envelope.ts'

const common = { feature: 'HEALTH', limit: 'data', query: noQuery } as const
const reading = { ...common, access: 'read' } as const
const writing = { ...common, access: 'write' } as const

const configPath = '/api/v1/health/alert-config'
const channelPath = '/api/v1/health/alert-config/channels/{channel}'
const digestPath = '/api/v1/health/alert-digest'
const checksPath = '/api/v1/health/check-alerts'
const checkPath = '/api/v1/health/check-alerts/{checkId}'

const config = ({ general, digestMinutes, channels, webhookTargets, persistent }: AlertPolicy) =>
  createSuccessBody({ general, digestMinutes, channels, webhookTargets }, { persistent })
const digest = ({ digestMinutes, persistent }: AlertPolicy) => createSuccessBody(digestMinutes, { persistent })
const checks = ({ rules, persistent }: AlertPolicy) => createSuccessBody(rules, { persistent, count: rules.length })

const configRoutes: readonly Route[] = [
  defineGetRoute({
    ...reading,
    path: configPath,
    doc: 'Returns the general alert configuration and the source of each field: database, file, variable or default',
    answer: AlertConfigResponse,
    handle: async ({ call }, { alerts }) => config(await alerts.alertPolicy({}, call)),
  }),
  definePutRoute({
    ...writing,
    path: configPath,
    doc: 'Updates the general alert configuration; absent fields fall back to files, variables and defaults',
    body: AlertConfigRequest,
    answer: AlertConfigResponse,
    handle: async (request, gateway) =>
      config(await updateAlertConfig(gateway, request, { kind: 'general', value: request.body })),
  }),
  defineDeleteRoute({
    ...writing,
    path: configPath,
    doc: 'Deletes the general alert configuration, which falls back to files, variables and defaults',
    answer: AlertConfigResponse,
    handle: async (request, gateway) => config(await deleteAlertConfig(gateway, request, { kind: 'general' })),
  }),
  definePutRoute({
    ...writing,
    path: channelPath,
    doc: 'Enables or disables a channel, or sets its minimum severity',
    body: AlertChannelRequest,
    answer: AlertConfigResponse,
    handle: async (request, gateway) =>
      config(
        await updateAlertConfig(gateway, request, { kind: 'channel', id: request.path.channel, value: request.body }),
      ),
  }),
  defineDeleteRoute({
    ...writing,
    path: channelPath,
    doc: 'Deletes the configuration of a channel, which falls back to files and variables',
    answer: AlertConfigResponse,
    handle: async (request, gateway) =>
      config(await deleteAlertConfig(gateway, request, { kind: 'channel', id: request.path.channel })),
  }),
]

const digestRoutes: readonly Route[] = [
  defineGetRoute({
    ...reading,
    path: digestPath,
    doc: 'Returns how long findings that are not critical are grouped into one message',
    answer: AlertDigestResponse,
    handle: async ({ call }, { alerts }) => digest(await alerts.alertPolicy({}, call)),
  }),
  definePutRoute({
    ...writing,
    path: digestPath,
    doc: 'Sets how long findings that are not critical are grouped',
    body: AlertDigestRequest,
    answer: AlertDigestResponse,
    handle: async (request, gateway) =>
      digest(await updateAlertConfig(gateway, request, { kind: 'digest', value: request.body })),
  }),
  defineDeleteRoute({
    ...writing,
    path: digestPath,
    doc: 'Deletes the digest configuration, which falls back to files, variables and defaults',
    answer: AlertDigestResponse,
    handle: async (request, gateway) => digest(await deleteAlertConfig(gateway, request, { kind: 'digest' })),
  }),
]

const checkRoutes: readonly Route[] = [
  defineGetRoute({
    ...reading,
    path: checksPath,
    doc: 'Lists rules with a configuration and the source of each field',
    answer: CheckAlertsResponse,
    handle: async ({ call }, { alerts }) => checks(await alerts.alertPolicy({}, call)),
  }),
  definePutRoute({
    ...writing,
    path: checkPath,
    doc: 'Updates a rule: whether it is enabled, its minimum severity, thresholds and hysteresis',
    body: CheckAlertsRequest,
    answer: CheckAlertsResponse,
    handle: async (request, gateway) =>
      checks(
        await updateAlertConfig(gateway, request, { kind: 'rule', id: request.path.checkId, value: request.body }),
      ),
  }),
  defineDeleteRoute({
    ...writing,
    path: checkPath,
    doc: 'Deletes the configuration of a rule, which falls back to files, variables and its definition',
    answer: CheckAlertsResponse,
    handle: async (request, gateway) =>
      checks(await deleteAlertConfig(gateway, request, { kind: 'rule', id: request.path.checkId })),
  }),
]

/** Routes of the alert configuration: general, per channel and per rule. */
export const healthSettingsRoutes: readonly Route[] = [...configRoutes, ...digestRoutes, ...checkRoutes]
