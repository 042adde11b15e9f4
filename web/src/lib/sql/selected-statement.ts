import { ensureSyntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'

/** A statement and its position in the text. */
export interface SelectedStatement {
  text: string
  from: number
}

/** Timeout for parsing. Statements within the size limit take much less. */
const maxParseMs = 500

/**
 * Returns the statement around a position, otherwise the preceding one, otherwise the next one. A comment above a
 * statement belongs to it; a comment at the end of a line belongs to the statement before it.
 */
export const findStatementAt = (state: EditorState, position: number): SelectedStatement => {
  // A partial syntax tree may end within a statement and cut it off.
  const tree = ensureSyntaxTree(state, state.doc.length, maxParseMs)
  const statements = (tree?.topNode.getChildren('Statement') ?? []).filter(
    ({ from, to }) => !/^[\s;]*$/.test(state.sliceDoc(from, to)),
  )
  const node = tree?.topNode.childBefore(position + 1)
  const comment = node?.name.endsWith('Comment') && position <= node.to ? node : null
  const before = statements.findLast(({ from }) => from <= position)
  const after = statements.find(({ from }) => from > position)
  const isAbove = comment && after && (!before || state.sliceDoc(before.to, comment.from).includes('\n'))
  const found = isAbove ? after : (before ?? after)
  if (!found) return { text: state.doc.toString(), from: 0 }
  return { text: state.sliceDoc(found.from, found.to).replace(/;\s*$/, ''), from: found.from }
}
