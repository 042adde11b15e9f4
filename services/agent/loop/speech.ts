import type { Tell } from './chunk.ts'

type Kind = 'text' | 'reasoning'

/** What a model says and thinks in one step, told as it comes: each change between the two begins a new part. */
export const openSpeech = (prefix: string, tell: Tell) => {
  let text = ''
  let parts = 0
  let speaking: { kind: Kind; id: string } | undefined

  const end = (): void => {
    if (speaking) tell({ type: `${speaking.kind}-end`, id: speaking.id })
    speaking = undefined
  }
  const speak = (kind: Kind, delta: string): void => {
    if (speaking?.kind !== kind) {
      end()
      speaking = { kind, id: `${prefix}-${(parts += 1)}` }
      tell({ type: `${kind}-start`, id: speaking.id })
    }
    tell({ type: `${kind}-delta`, id: speaking.id, delta })
  }

  return {
    get text() {
      return text
    },
    say(delta: string): void {
      text += delta
      speak('text', delta)
    },
    reason: (delta: string) => speak('reasoning', delta),
    end,
  }
}
