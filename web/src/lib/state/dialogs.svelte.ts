export type DialogName = 'palette' | 'shortcuts' | 'settings' | 'add-host'

let shown = $state<DialogName | null>(null)

/** The dialog that any page can ask for; one at a time. What is in it comes when it is first asked for. */
export const dialogs = {
  get shown(): DialogName | null {
    return shown
  },
  show: (name: DialogName): void => {
    shown = name
  },
  close: (): void => {
    shown = null
  },
}
