import { z } from 'zod'
import type { EventStatus } from '#proto/inbound-event.ts'
import type { EventAdapter } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, timestampField, optionalTextField, parseFields } from './fields.ts'

/** `INSUFFICIENT_DATA` neither fires nor resolves: the metric is missing. */
const statuses: Readonly<Record<string, EventStatus>> = { ALARM: 'firing', OK: 'resolved', INSUFFICIENT_DATA: 'info' }

const Dimension = z.looseObject({ name: optionalTextField, value: optionalTextField })
const Alarm = z.looseObject({
  AlarmName: z.string().min(1),
  AlarmDescription: optionalTextField,
  AlarmArn: optionalTextField,
  AWSAccountId: optionalTextField,
  Region: optionalTextField,
  NewStateValue: z.enum(['ALARM', 'OK', 'INSUFFICIENT_DATA']),
  NewStateReason: optionalTextField,
  StateChangeTime: timestampField,
  Trigger: z
    .looseObject({
      MetricName: optionalTextField,
      Namespace: optionalTextField,
      Dimensions: z.array(Dimension).nullish(),
    })
    .nullish(),
})

/** An alarm of Amazon CloudWatch, as SNS delivers it. CloudWatch states no severity. */
export const cloudWatchAdapter: EventAdapter = {
  id: 'cloudwatch',
  recognizes: ({ AlarmName, NewStateValue }) => AlarmName !== undefined && NewStateValue !== undefined,
  read: (sent) => {
    const alarm = parseFields(Alarm, sent)
    const dimensions = alarm.Trigger?.Dimensions ?? []
    return [
      createDraft('cloudwatch', sent, {
        externalId: alarm.AlarmArn ?? alarm.AlarmName,
        dedupKey: alarm.AlarmArn ?? `${alarm.AWSAccountId ?? ''}:${alarm.Region ?? ''}:${alarm.AlarmName}`,
        status: statuses[alarm.NewStateValue] ?? 'info',
        resource: dimensions.map(({ value }) => value ?? '').join(', '),
        title: alarm.AlarmName,
        body: firstNonBlank(alarm.NewStateReason, alarm.AlarmDescription),
        labels: {
          account: alarm.AWSAccountId,
          region: alarm.Region,
          namespace: alarm.Trigger?.Namespace,
          metric: alarm.Trigger?.MetricName,
        },
        occurredAt: alarm.StateChangeTime,
      }),
    ]
  },
}

const StateChange = z.looseObject({
  id: optionalTextField,
  account: optionalTextField,
  region: optionalTextField,
  time: timestampField,
  resources: z.array(z.string()).nullish(),
  detail: z.looseObject({
    alarmName: z.string().min(1),
    state: z.looseObject({ value: z.enum(['ALARM', 'OK', 'INSUFFICIENT_DATA']), reason: optionalTextField }),
  }),
})

/** The same alarm, as Amazon EventBridge delivers it. */
export const cloudWatchEventAdapter: EventAdapter = {
  id: 'cloudwatch',
  recognizes: ({ source, detail, ...rest }) =>
    source === 'aws.cloudwatch' && isJsonObject(detail) && rest['detail-type'] === 'CloudWatch Alarm State Change',
  read: (sent) => {
    const { id, account, region, time, resources, detail } = parseFields(StateChange, sent)
    return [
      createDraft('cloudwatch', sent, {
        externalId: id,
        identity: id === null ? null : ['cloudwatch', id],
        dedupKey: resources?.[0] ?? `${account ?? ''}:${region ?? ''}:${detail.alarmName}`,
        status: statuses[detail.state.value] ?? 'info',
        title: detail.alarmName,
        body: firstNonBlank(detail.state.reason),
        labels: { account, region },
        occurredAt: time,
      }),
    ]
  },
}
