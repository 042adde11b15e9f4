import type { Channel, SendResult, TargetLimits } from '../../channels/channel.ts'
import type { Message } from '../../messages/message.ts'

/** A channel that notes what it is told and answers what the test says. */
export interface Scripted {
  channel: Channel
  /** `<target> <kind> <episode>` of what was taken, in order. */
  readonly told: readonly string[]
  /** The same of all that was sent, taken or not. */
  readonly tried: readonly string[]
  readonly messages: readonly Message[]
  /** What the next sends to a target end with, one after the other; a function is waited for. */
  next(target: string, ...results: readonly (SendResult | (() => Promise<SendResult>))[]): void
  /** Every send to a target from now on. */
  always(target: string, result: SendResult | undefined): void
}

interface Chosen {
  id?: string
  isPaging?: boolean
  announces?: true
  limits?: Partial<TargetLimits>
  targets?: readonly string[]
}

const plenty: TargetLimits = { concurrency: 16, perSecond: 1_000, burst: 1_000 }

export const scripted = ({
  id = 'post',
  isPaging = false,
  announces,
  limits,
  targets = ['a'],
}: Chosen = {}): Scripted => {
  const told: string[] = []
  const tried: string[] = []
  const messages: Message[] = []
  const planned = new Map<string, (SendResult | (() => Promise<SendResult>))[]>()
  const lasting = new Map<string, SendResult>()
  const send = async (target: string, message: Message): Promise<SendResult> => {
    const line = `${target} ${message.notice.kind} ${message.notice.episode}`
    tried.push(line)
    const next = planned.get(target)?.shift() ?? lasting.get(target) ?? { kind: 'ok' }
    const result = typeof next === 'function' ? await next() : next
    if (result.kind === 'ok') {
      told.push(line)
      messages.push(message)
    }
    return result
  }
  return {
    channel: {
      id,
      settings: {},
      isPaging,
      ...(announces && { announces }),
      limits: { ...plenty, ...limits },
      targets: () =>
        targets.map((target) => ({
          id: target,
          name: target,
          isEnabled: true,
          minSeverity: null,
          send: (message) => send(target, message),
        })),
    },
    told,
    tried,
    messages,
    next: (target, ...results) => void planned.set(target, [...(planned.get(target) ?? []), ...results]),
    always: (target, result) => void (result ? lasting.set(target, result) : lasting.delete(target)),
  }
}
