import { z } from 'zod'
import type { EventStatus } from '#proto/inbound-event.ts'
import type { Adapter } from './adapter.ts'
import { isJsonObject } from './adapter.ts'
import { draftOfFields } from './draft.ts'
import { firstNonBlank, instant, optionalText, parseFields } from './fields.ts'

/** `INSUFFICIENT_DATA` neither fires nor resolves: the metric is missing. */
const statuses: Readonly<Record<string, EventStatus>> = { ALARM: 'firing', OK: 'resolved', INSUFFICIENT_DATA: 'info' }

const Dimension = z.looseObject({ name: optionalText, value: optionalText })
const Alarm = z.looseObject({
  AlarmName: z.string().min(1),
  AlarmDescription: optionalText,
  AlarmArn: optionalText,
  AWSAccountId: optionalText,
  Region: optionalText,
  NewStateValue: z.enum(['ALARM', 'OK', 'INSUFFICIENT_DATA']),
  NewStateReason: optionalText,
  StateChangeTime: instant,
  Trigger: z
    .looseObject({ MetricName: optionalText, Namespace: optionalText, Dimensions: z.array(Dimension).nullish() })
    .nullish(),
})

/** An alarm of Amazon CloudWatch, as SNS delivers it. CloudWatch states no severity. */
export const cloudWatch: Adapter = {
  id: 'cloudwatch',
  recognizes: ({ AlarmName, NewStateValue }) => AlarmName !== undefined && NewStateValue !== undefined,
  read: (sent) => {
    const alarm = parseFields(Alarm, sent)
    const dimensions = alarm.Trigger?.Dimensions ?? []
    return [
      draftOfFields('cloudwatch', sent, {
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
  id: optionalText,
  account: optionalText,
  region: optionalText,
  time: instant,
  resources: z.array(z.string()).nullish(),
  detail: z.looseObject({
    alarmName: z.string().min(1),
    state: z.looseObject({ value: z.enum(['ALARM', 'OK', 'INSUFFICIENT_DATA']), reason: optionalText }),
  }),
})

/** The same alarm, as Amazon EventBridge delivers it. */
export const cloudWatchEvent: Adapter = {
  id: 'cloudwatch',
  recognizes: ({ source, detail, ...rest }) =>
    source === 'aws.cloudwatch' && isJsonObject(detail) && rest['detail-type'] === 'CloudWatch Alarm State Change',
  read: (sent) => {
    const { id, account, region, time, resources, detail } = parseFields(StateChange, sent)
    return [
      draftOfFields('cloudwatch', sent, {
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
