import { z } from 'zod'
import type { EventAdapter } from './adapter.ts'
import { createDraft } from './draft.ts'
import { firstNonBlank, optionalTextField, parseFields, timestampField } from './fields.ts'

const Message = z.looseObject({
  Type: z.string(),
  MessageId: z.string().min(1),
  TopicArn: z.string().min(1),
  Subject: optionalTextField,
  Message: z.string(),
  Timestamp: timestampField,
})

const titles: Readonly<Record<string, string>> = {
  SubscriptionConfirmation: 'SNS subscription confirmed',
  UnsubscribeConfirmation: 'SNS subscription removed',
}

/**
 * A message of AWS SNS that contains no JSON, or that reports a change to the subscription. It has neither severity nor
 * status, so it is informational. A JSON message is parsed by the adapter of its own format.
 */
export const sns: EventAdapter = {
  id: 'sns',
  recognizes: ({ Type, TopicArn, MessageId }) =>
    typeof Type === 'string' && typeof TopicArn === 'string' && typeof MessageId === 'string',
  read: (sent) => {
    const { Type, MessageId, TopicArn, Subject, Message: body, Timestamp } = parseFields(Message, sent)
    return [
      createDraft(
        'sns',
        { Type, MessageId, TopicArn, Subject, Message: body, Timestamp: sent.Timestamp },
        {
          externalId: MessageId,
          identity: ['sns', MessageId],
          dedupKey: MessageId,
          status: 'info',
          resource: TopicArn,
          title: titles[Type] ?? firstNonBlank(Subject, body.split('\n', 1)[0]),
          body,
          occurredAt: Timestamp,
        },
      ),
    ]
  },
}
