let isOpen = $state(false)
let chat = $state<string | null>(null)

/**
 * The agent panel. It stays open across pages and is not part of the URL, so shared links do not open it.
 */
export const agentPanel = {
  get isOpen(): boolean {
    return isOpen
  },
  /** The conversation of the panel; null before the first question. */
  get chat(): string | null {
    return chat
  },
  open: (): void => {
    isOpen = true
  },
  close: (): void => {
    isOpen = false
  },
  setChat: (id: string | null): void => {
    chat = id
  },
}
