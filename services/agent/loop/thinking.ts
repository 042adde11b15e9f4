/** A piece of a model response: text of the answer, or reasoning. */
interface ResponsePiece {
  kind: 'text' | 'reasoning'
  text: string
}

/** Separates the reasoning that a model writes between `<think>` tags from the text of its answer. */
interface ThinkingSplitter {
  /** Returns the pieces that are certain after this delta. The beginning of a possible tag is held back. */
  push(delta: string): ResponsePiece[]
  /** Returns the text that was held back. */
  end(): ResponsePiece[]
}

/** A tag after a backtick is quoted text, so it does not start the reasoning. */
const opening = /(?<!`)<think(?:ing)?>/i
const closing = /<\/think(?:ing)?>/i
/** The incomplete beginning of a tag at the end of a text, with the backtick before it. */
const tagBeginning = /(?:`|`?<\/?(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)$/i

/** Returns a splitter for one streamed response. A tag that is not closed continues to the end of the response. */
export const openThinkingSplitter = (): ThinkingSplitter => {
  let held = ''
  let isThinking = false
  /** Whether whitespace is skipped, because a tag was just closed. */
  let isAfterTag = false

  const piece = (text: string): ResponsePiece[] => {
    const kept = isAfterTag ? text.trimStart() : text
    if (kept === '') return []
    isAfterTag = false
    return [{ kind: isThinking ? 'reasoning' : 'text', text: kept }]
  }

  return {
    push(delta) {
      const pieces: ResponsePiece[] = []
      held += delta
      for (;;) {
        const tag = (isThinking ? closing : opening).exec(held)
        if (!tag) break
        pieces.push(...piece(held.slice(0, tag.index)))
        held = held.slice(tag.index + tag[0].length)
        isAfterTag = true
        isThinking = !isThinking
      }
      const certain = held.length - (tagBeginning.exec(held)?.[0].length ?? 0)
      pieces.push(...piece(held.slice(0, certain)))
      held = held.slice(certain)
      return pieces
    },
    end() {
      const rest = piece(held)
      held = ''
      return rest
    },
  }
}

/** Returns a complete response without the reasoning between `<think>` tags. */
export const removeThinking = (response: string): string => {
  const splitter = openThinkingSplitter()
  return [...splitter.push(response), ...splitter.end()].map(({ kind, text }) => (kind === 'text' ? text : '')).join('')
}
