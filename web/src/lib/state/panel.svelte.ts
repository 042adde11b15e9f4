let isOpen = $state(false)
let chat = $state<string | null>(null)

/**
 * The agent beside the page. It stays from page to page and is no part of any: a link shows another person the page alone.
 */
export const panel = {
  get isOpen(): boolean {
    return isOpen
  },
  /** The conversation that was begun in it; null before the first question. */
  get chat(): string | null {
    return chat
  },
  open: (): void => {
    isOpen = true
  },
  close: (): void => {
    isOpen = false
  },
  keep: (id: string | null): void => {
    chat = id
  },
}
