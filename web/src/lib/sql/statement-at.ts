import { ensureSyntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'

/** A statement of the text, and where in it. */
export interface Chosen {
  text: string
  from: number
}

/** Statements as long as hosts are sent are read in a small part of this. */
const longestReadMs = 500

/**
 * The statement around a position; of several on one line the one before a position between them. A comment that stands above a statement
 * belongs to it, and one at the end of a line to what the line ends.
 */
export const statementAt = (state: EditorState, position: number): Chosen => {
  // What was read so far may end within a statement, and a statement without its end is another one.
  const tree = ensureSyntaxTree(state, state.doc.length, longestReadMs)
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
