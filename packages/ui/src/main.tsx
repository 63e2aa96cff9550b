import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client.ts';
import { LiveProvider } from './live/live.tsx';
import { ToastProvider } from './parts/toasts.tsx';
import { router } from './routes.tsx';
import { applyTheme } from './shell/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/pages.css';

const MOST_TRIES = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The live layer reads again what has changed.
      refetchOnWindowFocus: false,
      staleTime: 2_000,
      gcTime: 120_000,
      retry: (failures, error) => failures < MOST_TRIES && !(error instanceof ApiError && error.status < 500),
    },
  },
});

applyTheme();
const element = document.getElementById('app');
if (element !== null) {
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <LiveProvider>
          <ToastProvider>
            <RouterProvider router={router} />
          </ToastProvider>
        </LiveProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
