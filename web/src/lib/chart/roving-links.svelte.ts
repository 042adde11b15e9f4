/** Moves the focus from one link to another; returns the index of the next link. */
export type LinkStep = (key: string, index: number) => number | undefined

const lineSteps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

/**
 * Makes the links of a figure one tab stop: arrow keys, Home and End move between them. `step` returns the target of
 * arrow keys; by default, the links are a line.
 */
export const createRovingLinks = (count: () => number, step: LinkStep = (key, index) => stepInLine(key, index)) => {
  let current = $state(0)
  const bounded = $derived(Math.max(0, Math.min(count() - 1, current)))
  const move = (event: KeyboardEvent & { currentTarget: Element }) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? count() - 1 : step(event.key, bounded)
    if (next === undefined) return
    event.preventDefault()
    current = Math.max(0, Math.min(count() - 1, next))
    event.currentTarget.closest('figure')?.querySelectorAll('a')[current]?.focus()
  }
  return {
    /** Returns the attributes of the link with an index. */
    of: (index: number) => ({
      tabindex: index === bounded ? 0 : -1,
      onfocus: () => {
        current = index
      },
      onkeydown: move,
    }),
  }
}

const stepInLine = (key: string, index: number): number | undefined => {
  const step = lineSteps[key]
  return step === undefined ? undefined : index + step
}
