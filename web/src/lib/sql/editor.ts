import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  acceptCompletion,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState, Prec, StateEffect, StateField } from '@codemirror/state'
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
  type DecorationSet,
} from '@codemirror/view'
import { parseBuildInteger } from '#lib/state/build-flags.ts'
import { createCompletionSource, type CompletionProviders } from './completion.ts'
import { createClickHouseDialect, sqlHighlighter } from './dialect.ts'
import { findStatementAt, type SelectedStatement } from './selected-statement.ts'
import { emptyVocabulary, type Vocabulary } from './vocabulary.ts'

/** Maximum number of completions shown. */
const maxCompletions = parseBuildInteger(import.meta.env.CLIENT_AUTOCOMPLETE_LIMIT) ?? 60

export interface EditorOptions {
  parent: HTMLElement
  text: string
  label: string
  hint: string
  offers: Omit<CompletionProviders, 'statementAt'>
  onchange: (text: string) => void
  onrun: (chosen: SelectedStatement) => void
}

export interface Editor extends Disposable {
  setText: (text: string) => void
  setVocabulary: (vocabulary: Vocabulary) => void
  /** Underlines the word at a position, or clears the underline. */
  mark: (position: number | null) => void
  /** Returns the selection, or the statement around the cursor. */
  chosen: () => SelectedStatement
  focus: () => void
}

const editorTheme = EditorView.theme({
  '&': { height: '100%', fontSize: '0.93rem', backgroundColor: 'var(--surface)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--font-mono, ui-monospace, monospace)', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--ink-faint)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft) !important' },
  '.cm-placeholder': { color: 'var(--ink-faint)' },
  '.cm-wrong': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: '8px',
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    boxShadow: '0 8px 28px rgb(0 0 0 / 0.18)',
  },
  '.cm-tooltip.cm-completionInfo': { padding: '6px 10px', fontSize: '0.86rem' },
  '.cm-tooltip-autocomplete ul li': { padding: '2px 8px', lineHeight: '20px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--accent)',
  },
  '.cm-completionDetail': { color: 'var(--ink-faint)', fontStyle: 'normal', marginLeft: '1rem' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
})

const setErrorMark = StateEffect.define<number | null>()
const errorUnderline = Decoration.mark({ class: 'cm-wrong' })

/** Underlines the word at the position of an error until the text changes. */
const errorMark = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    const effect = transaction.effects.find((each) => each.is(setErrorMark))
    if (effect) return createErrorMark(transaction.state, effect.value)
    return transaction.docChanged ? Decoration.none : marks
  },
  provide: (field) => EditorView.decorations.from(field),
})

const createErrorMark = ({ doc }: EditorState, position: number | null): DecorationSet => {
  if (position === null || doc.length === 0) return Decoration.none
  const from = Math.min(position, doc.length - 1)
  const word = /^\w+/.exec(doc.sliceString(from, from + 256))?.[0].length ?? 1
  return Decoration.set([errorUnderline.range(from, Math.min(doc.length, from + word))])
}

const getSelectedStatement = (state: EditorState): SelectedStatement => {
  const { from, to, empty, head } = state.selection.main
  return empty ? findStatementAt(state, head) : { text: state.sliceDoc(from, to), from }
}

const appearance = [errorMark, editorTheme, syntaxHighlighting(sqlHighlighter)]

/** Creates an editor for ClickHouse SQL. Tab moves the focus, unless it accepts a completion. */
export const createEditor = ({ parent, text, label, hint, offers, onchange, onrun }: EditorOptions): Editor => {
  const language = new Compartment()
  const complete = createCompletionSource({
    ...offers,
    statementAt: (context) => findStatementAt(context.state, context.pos).text,
  })
  const run = (view: EditorView): boolean => {
    onrun(getSelectedStatement(view.state))
    return true
  }
  const extensions = [
    lineNumbers(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    placeholder(hint),
    appearance,
    language.of(createClickHouseDialect(emptyVocabulary).language),
    autocompletion({ override: [complete], maxRenderedOptions: maxCompletions }),
    Prec.highest(
      keymap.of([
        { key: 'Mod-Enter', run },
        { key: 'Tab', run: acceptCompletion },
      ]),
    ),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onchange(update.state.doc.toString())
    }),
  ]
  const view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) })
  return {
    setText: (next) => {
      if (next === view.state.doc.toString()) return
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
    },
    setVocabulary: (vocabulary) =>
      view.dispatch({ effects: language.reconfigure(createClickHouseDialect(vocabulary).language) }),
    mark: (position) => view.dispatch({ effects: setErrorMark.of(position) }),
    chosen: () => getSelectedStatement(view.state),
    focus: () => view.focus(),
    [Symbol.dispose]: () => view.destroy(),
  }
}
