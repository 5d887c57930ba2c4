import { defineProvider } from '@crosstie/resources/provider'

export const provider = defineProvider({ name: 'sql', summary: '', kinds: [] })
