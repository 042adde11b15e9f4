/** What was typed while no field had the focus. */
export interface TypedText {
  text: string
  /** Whether Enter was pressed after the text. */
  isSubmitted: boolean
}

interface CaptureHandlers {
  /** Called after each change. */
  onchange?: (typed: TypedText) => void
  /** Called after Escape or a click, which end the capture. */
  oncancel?: () => void
  /** Whether to capture Enter. */
  withEnter?: boolean
}

/**
 * Captures typed and pasted text until it is stopped, for a field that is still loading. So no key is lost or triggers
 * a shortcut. Returns a function that stops the capture and returns the text.
 */
export const captureTyping = ({ onchange, oncancel, withEnter = false }: CaptureHandlers = {}): (() => TypedText) => {
  const typed: TypedText = { text: '', isSubmitted: false }
  const swallow = (event: Event) => {
    event.preventDefault()
    event.stopImmediatePropagation()
    onchange?.({ ...typed })
  }
  const capture = (event: KeyboardEvent) => {
    // AltGr types characters; browsers on Windows report it as Ctrl with Alt.
    const isCommand = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState('AltGraph')
    if (isCommand || event.isComposing) return
    if (event.key === 'Escape') {
      // With a list to cancel, the key must not also close something else.
      if (oncancel) swallow(event)
      cancel()
      return
    }
    if (event.key === 'Enter' && withEnter) typed.isSubmitted = true
    else if (event.key === 'Backspace') typed.text = typed.text.slice(0, -1)
    else if (event.key.length === 1) typed.text += event.key
    else return
    if (event.key !== 'Enter') typed.isSubmitted = false
    swallow(event)
  }
  const paste = (event: ClipboardEvent) => {
    typed.text += (event.clipboardData?.getData('text/plain') ?? '').replace(/\s+/g, ' ').trim()
    swallow(event)
  }
  const cancel = () => {
    stop()
    oncancel?.()
  }
  const stop = (): TypedText => {
    document.removeEventListener('keydown', capture, true)
    document.removeEventListener('paste', paste, true)
    document.removeEventListener('pointerdown', cancel, true)
    return typed
  }
  document.addEventListener('keydown', capture, true)
  document.addEventListener('paste', paste, true)
  document.addEventListener('pointerdown', cancel, true)
  return stop
}
