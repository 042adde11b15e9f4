import type { Channel, SendResult, TargetLimits } from '../../channels/channel.ts'
import type { Message } from '../../messages/message.ts'

/** A channel that records notifications and returns scripted results. */
export interface ScriptedChannel {
  channel: Channel
  /** Delivered notifications as `<target> <kind> <episode>`, in order. */
  readonly notified: readonly string[]
  /** All sends, delivered or not. */
  readonly tried: readonly string[]
  readonly messages: readonly Message[]
  /** Sets the results of the next sends to a target, in order; a function is called and awaited. */
  next(target: string, ...results: readonly (SendResult | (() => Promise<SendResult>))[]): void
  /** Sets the result of all later sends to a target; undefined restores the default. */
  always(target: string, result: SendResult | undefined): void
}

interface FixtureOptions {
  id?: string
  isPaging?: boolean
  announces?: true
  limits?: Partial<TargetLimits>
  targets?: readonly string[]
}

const plenty: TargetLimits = { concurrency: 16, perSecond: 1_000, burst: 1_000 }

/** Creates a channel whose sends succeed unless a test scripts another result. */
export const createScriptedChannel = ({
  id = 'post',
  isPaging = false,
  announces,
  limits,
  targets = ['a'],
}: FixtureOptions = {}): ScriptedChannel => {
  const notified: string[] = []
  const tried: string[] = []
  const messages: Message[] = []
  const planned = new Map<string, (SendResult | (() => Promise<SendResult>))[]>()
  const permanent = new Map<string, SendResult>()
  const send = async (target: string, message: Message): Promise<SendResult> => {
    const line = `${target} ${message.notification.kind} ${message.notification.episode}`
    tried.push(line)
    const next = planned.get(target)?.shift() ?? permanent.get(target) ?? { kind: 'ok' }
    const result = typeof next === 'function' ? await next() : next
    if (result.kind === 'ok') {
      notified.push(line)
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
    notified,
    tried,
    messages,
    next: (target, ...results) => void planned.set(target, [...(planned.get(target) ?? []), ...results]),
    always: (target, result) => void (result ? permanent.set(target, result) : permanent.delete(target)),
  }
}
