import type { Conversation } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Written } from './store.ts'

/** What is written over what was there. */
export const merged = (written: Written, present: Conversation | undefined): Conversation => {
  const { id, title, hostKey, model, messages, evidence, firstWords, atMs } = written
  return {
    id,
    title: title ?? present?.title ?? firstWords,
    hostKey,
    model,
    messageCount: messages.length,
    createdAtMs: present?.createdAtMs ?? atMs,
    updatedAtMs: atMs,
    messages,
    evidence: evidence ?? present?.evidence ?? [],
  }
}

/** Says what to do when an owner has as many as one may have. */
export const tooMany = (most: number): ServiceError =>
  new ServiceError('conflict', `there are ${most} conversations already; remove some first`)
